import tqdm
from wutil.words import greeting

print(greeting(), tqdm.__name__)
