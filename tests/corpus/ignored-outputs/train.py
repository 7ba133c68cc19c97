import os

print(sorted(name for name in os.listdir('.') if not name.startswith('.')))
