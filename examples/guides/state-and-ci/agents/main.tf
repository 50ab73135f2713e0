terraform {
  required_version = ">= 1.5"

  required_providers {
    agentyard = {
      source  = "agentyard/agentyard"
      version = "~> 0.1.0"
    }
  }

  backend "pg" {
    schema_name = "agents"
  }
}

data "terraform_remote_state" "platform" {
  backend = "pg"
  config  = { schema_name = "platform" }
}

locals {
  keys = data.terraform_remote_state.platform.outputs.keys
}

provider "agentyard" {
  api_key   = local.keys["mobile"].value
  key_owner = local.keys["mobile"].owner # Stays the same when the key rotates.
}

resource "agentyard_computer" "mobile" {
  name = "runner"
}
