"""A package that poetry builds."""

__version__ = "1.2.0"
