from typing import TYPE_CHECKING

try:
    import wandb
except ImportError:
    wandb = None
if TYPE_CHECKING:
    import tensorboard


def plot(log: 'tensorboard.Log'):
    import matplotlib
    return matplotlib


print('guarded', wandb)
