"""Executor images with the layouts of training images, made from the machine's own distribution.

`debian` has Python as a package; `official` has it under /usr/local and no package of it, as the official images;
`conda` under /opt/conda, with a C library named as before glibc 2.34; `venv` has a virtual environment first on PATH.
"""

import functools
import shutil

import testbed

KINDS = ('debian', 'official', 'conda', 'venv')

# Debian's interpreter finds its library beside itself. Three of Debian's changes are undone, so that packages are
# installed to and found in site-packages, and their scripts in the prefix's bin, as upstream.
MOVED = '''FROM {executor}
COPY wheels /tmp/wheels
RUN set -e; version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])'); library={prefix}/lib/python$version; \\
    rm -rf /usr/local/lib/python*; mkdir -p {prefix}/bin {prefix}/lib; \\
    cp /usr/bin/python$version {prefix}/bin/; cp -a /usr/lib/python$version {prefix}/lib/; \\
    ln -s python$version {prefix}/bin/python3; ln -s python3 {prefix}/bin/python; \\
    sed -i "s/prefix_scheme = 'posix_local'/prefix_scheme = 'posix_prefix'/" $library/sysconfig.py; \\
    rm -f $library/sitecustomize.py; \\
    sed -i 's/if name == "posix_prefix":/if False:/' $library/_distutils_system_mod.py; \\
    echo 'import site; site.addsitedir("'$library'/site-packages")' >$library/sitecustomize.py; \\
    rm -rf $library/EXTERNALLY-MANAGED $library/dist-packages; mkdir $library/site-packages; \\
    rm -rf /usr/bin/python* /usr/bin/pip* /usr/lib/python*; \\
    {prefix}/bin/python3 $(ls /tmp/wheels/pip-*.whl)/pip install --quiet --no-index --no-cache-dir /tmp/wheels/*.whl; \\
    rm -r /tmp/wheels{finish}
ENV PATH={prefix}/bin:{path} {variables}
CMD ["python3"]
'''
CONDA_META = '''; mkdir {prefix}/conda-meta; echo '==> made <==' >{prefix}/conda-meta/history; \\
    for package in python-$version.0-0 pip-23.0-0; do \\
    echo '{{"name": "'${{package%%-*}}'", "version": "'$version'.0", "files": []}}' >{prefix}/conda-meta/$package.json; done'''
OLD_LIBC = '''; cd /lib/*-linux-gnu*/; cp libc.so.6 libc-2.31.so; ln -sf libc-2.31.so libc.so.6'''
VENV = '''FROM {executor}
COPY wheels /tmp/wheels
RUN python3 -m venv --without-pip /opt/venv && \\
    /opt/venv/bin/python $(ls /tmp/wheels/pip-*.whl)/pip install --quiet --no-index --no-cache-dir /tmp/wheels/*.whl && \\
    rm -r /tmp/wheels
ENV PATH=/opt/venv/bin:{path} VIRTUAL_ENV=/opt/venv
CMD ["python3"]
'''
PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'


def recipe(kind):
    executor = testbed.executor()
    if kind == 'venv':
        return VENV.format(executor=executor, path=PATH)
    if kind == 'official':
        return MOVED.format(executor=executor, path=PATH, prefix='/usr/local', finish='', variables='LANG=C.UTF-8')
    return MOVED.format(executor=executor, path=PATH, prefix='/opt/conda', finish=CONDA_META.format(prefix='/opt/conda') + OLD_LIBC,
                        variables='CONDA_DIR=/opt/conda')


@functools.cache
def base(kind):
    """Returns the name of the base image of that kind; quick if it was made before."""
    if kind == 'debian':
        return testbed.executor()
    name = f'autopack-tests/python-{kind}:1'
    context = testbed.write_tree({'Dockerfile': recipe(kind)})
    shutil.copytree(testbed.DEBIAN_WHEELS, context / 'wheels')
    testbed.docker('build', '--quiet', '--tag', name, context)
    return name
