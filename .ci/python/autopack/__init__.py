"""Runs autopack from Python.

    import autopack
    image = autopack.build('project', executor_image_uri='python:3.11', script='train.py')
    print(image['uri'])

A keyword is the flag of that name: `dry_run=True` is `--dry-run`, `push=False` is `--no-push`, None leaves the flag out,
a list gives its values, a dict is `KEY=VALUE,...`, and `as_=...` is `--as`. Messages go to standard error, as they do in
a shell.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sysconfig
import tempfile
from typing import Any, Dict, List, Sequence, Union

Path = Union[str, 'os.PathLike[str]']


class Error(Exception):
    """autopack failed: its exit status, and what it printed with `--format=json`, if it did."""

    def __init__(self, command: str, status: int, answer: Any) -> None:
        answer = answer if isinstance(answer, dict) else {}
        found = [one['what'] for one in answer.get('findings', []) if one['outcome'] == 'error']  # by `autopack doctor`
        error = answer.get('error', {'message': '\n'.join(found) or f'`autopack {command}` ended with status {status}'})
        self.status, self.answer, self.message = status, answer, str(error['message'])
        self.kind: str = error.get('kind', '')
        self.problems: List[str] = self.message.split('\n')
        self.causes: List[str] = error.get('causes', [])
        self.hints: List[str] = error.get('hints', [])
        super().__init__('\n'.join([self.message, *self.causes, *(f'hint: {hint}' for hint in self.hints)]))


def program() -> str:
    """Returns the path of the binary: the one that was installed with this module, else the one in PATH."""
    folders = [sysconfig.get_path('scripts'), sysconfig.get_path('scripts', 'posix_user'),
               str(pathlib.Path(__file__).resolve().parents[1] / 'bin')]  # of `pip install --target`
    found = shutil.which('autopack', path=os.pathsep.join(folders)) or shutil.which('autopack')
    if not found:
        raise FileNotFoundError('autopack is neither beside this Python nor in PATH')
    return found


def _start(command: str, words: Sequence[str], directory: Path, arguments: Sequence[str], flags: Dict[str, Any],
           **options: Any) -> 'subprocess.CompletedProcess[bytes]':
    given = {'--' + name.rstrip('_').replace('_', '-'): value for name, value in flags.items() if value is not None}
    # A file, because it can hold values with commas.
    with tempfile.NamedTemporaryFile('w', suffix='.json', encoding='utf-8') as file:
        json.dump(given, file, default=os.fspath)
        file.flush()
        line = [program(), command, *words, f'--flags-file={file.name}', *(['--', *arguments] if arguments else [])]
        return subprocess.run(line, cwd=directory, check=False, **options)


def call(command: str, *words: str, directory: Path = '.', arguments: Sequence[str] = (), **flags: Any) -> Any:
    """Runs a command, such as `call('jobs', 'list')`, and returns its JSON, or its text if it has none.

    `arguments` are those of the program. Raises Error if autopack fails.
    """
    done = _start(command, words, directory, arguments, {'format': 'json', **flags}, stdout=subprocess.PIPE)
    text = done.stdout.decode()
    try:
        answer = json.loads(text)
    except ValueError:
        answer = text
    if done.returncode != 0:
        raise Error(command, done.returncode, answer)
    return answer


def build(directory: Path = '.', **flags: Any) -> Dict[str, Any]:
    """Makes the image of a project, and pushes it if its name has a registry; returns its `uri`, `digest`, `layers`, ..."""
    return call('build', directory=directory, **flags)


def explain(directory: Path = '.', **flags: Any) -> Dict[str, Any]:
    """Returns what would go into the image, and why."""
    return call('explain', directory=directory, **flags)


def submit(directory: Path = '.', **flags: Any) -> Dict[str, Any]:
    """Makes the image and creates a job; returns both as `image` and `job`, or the `request` with `dry_run=True`."""
    return call('submit', directory=directory, **flags)


def run(directory: Path = '.', *, arguments: Sequence[str] = (), **flags: Any) -> None:
    """Makes the image and runs it here; input and output are the program's. Raises Error with its status if it fails."""
    status = _start('run', (), directory, arguments, flags).returncode
    if status != 0:
        raise Error('run', status, None)
