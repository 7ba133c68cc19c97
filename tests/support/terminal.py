"""Runs a program on a pseudo-terminal, as a person sees it."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import secret_watch
import testbed


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, command, env, cwd=None, columns=80):
        self.text = ''
        self.pid, self.handle = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 40, columns, 0, 0))
                os.chdir(cwd or '/')
                os.execvpe(command[0], [str(part) for part in command], env)
            finally:  # never a second run of the tests
                os._exit(127)
        secret_watch.given(env)

    def read(self, until=None, seconds=60):
        """Reads until `until` appears, or until the program ends."""
        end = time.monotonic() + seconds
        begin = len(self.text)
        while time.monotonic() < end:
            if until is not None and until in self.text[begin:]:
                return self.text[begin:]
            if not select.select([self.handle], [], [], 0.2)[0]:
                continue
            try:
                self.text += os.read(self.handle, 65536).decode(errors='replace')
            except OSError:
                secret_watch.require_none('the program', self.text)
                return self.text[begin:]
        raise AssertionError(f'{until!r} did not come:\n{self.text[begin:]}')

    def type(self, text):
        os.write(self.handle, text.encode())

    def wait(self):
        """Returns the exit status of a program whose output was read to the end."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.handle)
        return status

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.handle)


def run_on_terminal(command, env, cwd=None):
    """Returns status and text of a program that ends by itself."""
    terminal = Terminal(command, env, cwd)
    text = terminal.read()
    return terminal.wait(), text


def on_terminal(*arguments, cwd=None, **variables):
    """Returns autopack's output there, with the settings of a person's terminal."""
    env = testbed.environment(**({'TERM': 'xterm', 'NO_COLOR': None, 'CI': None, 'AUTOPACK_VERBOSITY': None} | variables))
    return run_on_terminal([testbed.binary, *arguments], env, cwd)[1]


def plain(text):
    return re.sub('\x1b\\[[0-9;]*[A-Za-z]', '', text).replace('\r', '')
