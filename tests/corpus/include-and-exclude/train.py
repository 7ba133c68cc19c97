import glob

print(sorted(glob.glob('**/*.*', recursive=True)))
