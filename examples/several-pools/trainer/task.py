"""Says which replica it is, as a distributed trainer would before it starts."""

import json
import os

cluster = json.loads(os.environ.get('CLUSTER_SPEC', '{}'))
task = cluster.get('task', {'type': 'workerpool0', 'index': 0})
print(f'replica {task["type"]}/{task["index"]}, learning rate {os.environ.get("LEARNING_RATE", "unset")}')
