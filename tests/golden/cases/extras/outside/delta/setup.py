from setuptools import setup
setup(name="delta", version="3", packages=["delta"])
