# By the name prefix. Includes every computer named build-<number>.
terraform import agentyard_computer_fleet.build build

# With a service account: by the account's ID and the prefix.
terraform import agentyard_computer_fleet.build \
  sa_01hzy3v7k2m4n6p8q0r2s4t6v8/build
