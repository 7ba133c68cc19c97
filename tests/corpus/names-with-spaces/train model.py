print(open('data set/größe.txt', encoding='utf-8').read())
