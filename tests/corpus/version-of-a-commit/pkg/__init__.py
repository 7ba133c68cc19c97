from pkg._version import version as __version__
