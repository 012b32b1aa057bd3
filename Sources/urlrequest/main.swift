print("urlrequest")
