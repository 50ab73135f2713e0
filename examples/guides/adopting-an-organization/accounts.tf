import {
  to = agentyard_service_account.ci
  id = "sa_01hzy3v7k2m4n6p8q0r2s4t6v8"
}

resource "agentyard_service_account" "ci" {
  name = "ci"
}

# The import ID of a key starts with the account's ID.
import {
  to = agentyard_api_key.pipeline
  id = "sa_01hzy3v7k2m4n6p8q0r2s4t6v8/key_01hzy4a8m3n5p7q9r1s3t5v7w9"
}

resource "agentyard_api_key" "pipeline" {
  service_account_id = agentyard_service_account.ci.id
  name               = "pipeline"
}

import {
  to = agentyard_computer.runner
  id = "0c5d9f6e-4a57-4b0e-9a53-2d7e8f9a1b3c"
}

resource "agentyard_computer" "runner" {
  name               = "runner-1"
  service_account_id = agentyard_service_account.ci.id
}
