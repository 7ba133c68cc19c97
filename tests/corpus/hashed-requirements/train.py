import tqdm

print(tqdm.__version__)
