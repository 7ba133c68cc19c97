"""A real Slurm on loopback: a controller and two nodes of this machine, which run containers with runc or crun.

It needs no service of the machine: munge, ports, state and settings are its own. `slurm_cluster.cluster()` starts it
once for each process of tests, and it is stopped by its process ids when the tests end.
"""

import functools
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile

import testbed

NODES = ('n1', 'n2')
# Each node has an address of its own, so that two programs may listen at the same port.
ADDRESSES = {'n1': '127.0.0.2', 'n2': '127.0.0.3'}

# The time limits are the shortest that Slurm knows, because tests wait for them.
SETTINGS = """\
ClusterName=autopack
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
ReturnToService=2
KillWait=2
UnkillableStepTimeout=30
MinJobAge={memory}
SlurmdTimeout=30
InactiveLimit=0
MailProg=/bin/true
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.2 Port={n1} CPUs=4 RealMemory=4000 Gres=gpu:1 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.3 Port={n2} CPUs=4 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE DefaultTime=60 State=UP
PartitionName=short Nodes=n1,n2 MaxTime=2 DefaultTime=1 State=UP
"""

OCI = """\
RunTimeQuery="{folder}/query %n.%u.%j.%s.%t"
RunTimeKill="{runtime} --root={folder}/containers kill -a %n.%u.%j.%s.%t SIGKILL"
RunTimeDelete="{runtime} --root={folder}/containers delete --force %n.%u.%j.%s.%t"
RunTimeRun="{runtime} --root={folder}/containers run --bundle=%b %n.%u.%j.%s.%t"
"""


# Slurm 22.05 waits for a container of which the runtime knows nothing, until it drains the node as unable to kill it. A
# program that was killed has no container any more.
QUERY = """\
#!/bin/sh
{runtime} --root={folder}/containers state "$1" 2> /dev/null || echo '{{"id": "'"$1"'", "status": "stopped"}}'
"""


class Cluster:
    """`environment()` gives what the commands of Slurm need to find it."""

    def __init__(self, memory=300):
        # The path of munge's socket must be short.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='autopack-slurm-'))
        testbed.at_exit(shutil.rmtree, self.folder, True)
        self.folder.chmod(0o755)
        self.processes = []
        self.settings = self.folder / 'slurm.conf'
        ports = {name: testbed.free_port() for name in ('controller', *NODES)}
        host = socket.gethostname().split('.')[0]
        self.settings.write_text(SETTINGS.format(folder=self.folder, host=host, user='root', memory=memory, **ports))
        (self.folder / 'gres.conf').write_text('NodeName=n1 Name=gpu File=/dev/null\n')
        (self.folder / 'cgroup.conf').write_text('CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n')
        # Debian has runc in a directory that only root's PATH has.
        runc = shutil.which('runc', path=os.environ['PATH'] + ':/usr/sbin')
        runtime = runc or f'{shutil.which("crun")} --cgroup-manager=disabled'
        (self.folder / 'oci.conf').write_text(OCI.format(folder=self.folder, runtime=runtime))
        (self.folder / 'query').write_text(QUERY.format(folder=self.folder, runtime=runtime))
        (self.folder / 'query').chmod(0o755)
        for name in ('state', 'containers', *(f'spool-{node}' for node in NODES)):
            (self.folder / name).mkdir()
        hosts = pathlib.Path('/etc/hosts').read_text() + ''.join(f'{ADDRESSES[node]} {node}\n' for node in NODES)
        (self.folder / 'hosts').write_text(hosts)
        testbed.at_exit(self.stop)
        self.start()

    def environment(self, **changes):
        return testbed.environment(SLURM_CONF=self.settings, **changes)

    def start(self):
        key = self.folder / 'munge.key'
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        munge = {'key-file': key, 'socket': self.folder / 'munge.socket', 'pid-file': self.folder / 'munge.pid',
                 'log-file': self.folder / 'munge.log', 'seed-file': self.folder / 'munge.seed'}
        # It refuses a socket below a directory that others may write, such as /tmp, without --force.
        self.launch('munged', '--foreground', '--force', *(f'--{name}={value}' for name, value in munge.items()))
        testbed.wait_until((self.folder / 'munge.socket').exists, what='munge')
        self.launch('slurmctld', '-D', '-f', self.settings)
        for node in NODES:
            self.start_node(node)
        testbed.wait_until(self.is_ready, seconds=30, what='the nodes of Slurm')

    def start_node(self, node):
        # Programs of jobs find the nodes by name.
        return self.launch('unshare', '--mount', '--propagation=private', 'sh', '-c',
                           'mount --bind "$1" /etc/hosts && shift && exec "$@"', 'sh', self.folder / 'hosts',
                           'slurmd', '-D', '-N', node, '-f', self.settings)

    def launch(self, *words):
        with open(self.folder / f'{words[0]}.out', 'ab') as log:
            process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       cwd=self.folder, env=self.environment(PATH=os.environ['PATH'] + ':/usr/sbin:/sbin'))
        self.processes.append(process)
        return process

    def command(self, *words, **options):
        options.setdefault('env', self.environment())
        return testbed.run(words, **options).stdout.decode().strip()

    def is_ready(self):
        answer = testbed.run(['sinfo', '-h', '-N', '-o', '%T', '-p', 'main'], check=False, env=self.environment())
        return answer.stdout.decode().split() == ['idle'] * len(NODES)

    def stop(self):
        testbed.run(['scancel', '--user=root', '--signal=KILL', '--full'], check=False, env=self.environment())
        testbed.run(['scancel', '--user=root'], check=False, env=self.environment())
        for process in reversed(self.processes):
            testbed.end(process, signal.SIGTERM)


@functools.cache
def cluster():
    """Returns the cluster of this process; it starts on first use."""
    return Cluster()
