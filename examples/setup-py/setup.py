import pathlib

from setuptools import find_packages, setup

here = pathlib.Path(__file__).parent
setup(
    name='taxi',
    version=(here / 'VERSION').read_text().strip(),
    description='Predicts the fare of a taxi ride',
    long_description=(here / 'README.md').read_text(),
    packages=find_packages(),
    install_requires=['numpy'],
    entry_points={'console_scripts': ['taxi-train = taxi.train:main']},
)
