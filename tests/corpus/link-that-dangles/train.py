print(open('data/train.csv').read())
