print(open('labels.txt').read().split())
