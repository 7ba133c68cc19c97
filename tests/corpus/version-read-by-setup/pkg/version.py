__version__ = '4.5'
