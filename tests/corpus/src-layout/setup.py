from setuptools import find_packages, setup

with open('README.md') as file:
    text = file.read()
setup(name='vision-lab', version='2.5', long_description=text, package_dir={'': 'src'}, packages=find_packages('src'),
      install_requires=['tqdm'])
