import metrics

print(metrics.greatest(12, 18))
