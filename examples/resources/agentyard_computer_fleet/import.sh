# By the name prefix. Includes every computer named build-<number>.
terraform import agentyard_computer_fleet.build build

# With a service account: by the account's ID and the prefix.
terraform import agentyard_computer_fleet.build 6f1c2d6e-0b5e-4f43-9a39-1c6d7e9b8a10/build
