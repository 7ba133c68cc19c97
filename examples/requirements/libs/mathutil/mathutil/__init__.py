"""Small numeric helpers that several projects share."""


def moving_average(values, width):
    return [sum(values[i:i + width]) / width for i in range(len(values) - width + 1)]
