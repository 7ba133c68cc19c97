import os

DATA = 'corpus'
print(os.path.getsize(os.path.join(DATA, 'a.bin')))
