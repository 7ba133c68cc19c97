from setuptools import setup

setup(name='diffusion-kit', py_modules=['diffusion_kit'], install_requires=['greeter'])
