import nox


@nox.session
def tests(session):
    session.run("pytest")


if __name__ == "__main__":
    nox.main()
