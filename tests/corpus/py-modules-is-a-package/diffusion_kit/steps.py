from greeter import hello  # noqa: F401
