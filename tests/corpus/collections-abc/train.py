import helpers

print(helpers.is_hashable("x"))
