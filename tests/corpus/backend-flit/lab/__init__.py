"""A package that flit builds."""

__version__ = "1.2.0"
