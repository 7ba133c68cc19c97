from mpi4py import MPI

print('rank', MPI.COMM_WORLD.rank)
