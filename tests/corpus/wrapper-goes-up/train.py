import argparse
import json
import os

parser = argparse.ArgumentParser()
parser.add_argument('--config')
parser.add_argument('--steps', type=int)
arguments = parser.parse_args()
with open(arguments.config) as file:
    print(json.load(file)['layers'], arguments.steps, os.environ['WANDB_MODE'])
