"""A package that hatchling builds."""

__version__ = "1.2.0"
