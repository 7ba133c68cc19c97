#!/bin/bash
set -e
python3 prepare.py
python3 -m pkg.train
