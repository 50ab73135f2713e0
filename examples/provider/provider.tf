terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}

# base_url and api_key come from AGENTYARD_BASE_URL and AGENTYARD_API_KEY.
provider "agentyard" {
  request_timeout     = "90s"
  requests_per_second = 20
}
