# store.tf stands for a resource of any secret store.
rule "terraform_required_providers" {
  enabled = false
}
