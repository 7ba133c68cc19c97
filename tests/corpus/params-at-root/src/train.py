import yaml
from tqdm import trange

with open('params.yaml') as file:
    params = yaml.safe_load(file)['train']
for epoch in trange(params['epochs'], disable=True):
    print('epoch', epoch)
