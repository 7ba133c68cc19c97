from arg import name
from task.mixup import mixed

print(mixed(name))
