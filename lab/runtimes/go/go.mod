module lab-go

go 1.19
