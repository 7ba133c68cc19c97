import pkg

print(pkg.NAME)
