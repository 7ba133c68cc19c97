from setuptools import find_packages, setup

setup(name="my-trainer", version=open("VERSION").read().strip(), packages=find_packages(), install_requires=["numpy"],
      entry_points={"console_scripts": ["train = trainer.task:main"]})
