# A signed address for the video of a wiki. It is not stored anywhere.
ephemeral "agentyard_wiki_video_upload_url" "tour" {}

# It can be handed to providers, to write-only arguments and to provisioners.
resource "terraform_data" "upload" {
  provisioner "local-exec" {
    command = "echo uploading the video"

    environment = {
      UPLOAD_URL    = ephemeral.agentyard_wiki_video_upload_url.tour.url
      UPLOAD_FIELDS = jsonencode(ephemeral.agentyard_wiki_video_upload_url.tour.fields)
    }
  }
}
