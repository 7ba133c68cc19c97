import os
import shutil

from setuptools import find_packages, setup

here = os.path.dirname(os.path.abspath(__file__))
shutil.rmtree(os.path.join(here, 'pkg', 'config'), ignore_errors=True)
shutil.copytree(os.path.join(here, 'config'), os.path.join(here, 'pkg', 'config'))
setup(name='pkg', version='1', packages=find_packages(), package_data={'pkg': ['config/*.json']})
