"""Counts as many steps as the settings ask for."""

import os

steps = int(os.environ.get('STEPS', '3'))
print('steps:', sum(1 for _ in range(steps)))
