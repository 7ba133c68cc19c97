import tools  # noqa: F401
