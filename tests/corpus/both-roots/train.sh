PYTHONPATH=. python3 task/main.py
