from setuptools import setup
setup(name="gamma", version="3", packages=["gamma"])
