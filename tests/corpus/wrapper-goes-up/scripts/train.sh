#!/bin/bash
set -e
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export WANDB_MODE=offline
python3 train.py --config config/small.json "$@"
