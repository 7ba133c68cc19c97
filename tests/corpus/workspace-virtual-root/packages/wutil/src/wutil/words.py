def greeting():
    return "from the workspace"
