import fast._core  # noqa: F401
