import tqdm  # noqa: F401
import vision_lab
from vision_lab.net import WIDTH

print(vision_lab.__version__, WIDTH)
