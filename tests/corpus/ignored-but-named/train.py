with open('data/vocab.txt') as file:
    print(len(file.read().split()), 'words')
