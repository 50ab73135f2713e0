# Remembers the computers of the first run that uses it, and compares those of later runs.

terraform {
  required_version = ">= 1.6"
}

variable "computer_ids" {
  description = "IDs of the computers, by name."
  type        = map(string)
}

resource "terraform_data" "first" {
  input = var.computer_ids

  lifecycle {
    ignore_changes = [input]
  }
}

output "names" {
  description = "Names of the computers that are still the same."
  value       = join(" ", [for name, id in terraform_data.first.output : name if lookup(var.computer_ids, name, "") == id])
}
