python3 -m training.main --data data/small.csv "$@"
