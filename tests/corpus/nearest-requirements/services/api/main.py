import greeter  # noqa: F401
